-- By which right the last word on a decision (approve, reject, run again) was given: part of the record.
alter table decisions add column word_right json;

create or replace function record_change() returns trigger language plpgsql as $$
declare
  v_event text;
  v_details json;
  v_head decision_record_head;
begin
  v_event := case
    when new.status <> old.status then new.status
    when old.again_by is null and new.again_by is not null then 'run_again'
    when old.again_by is not null and new.again_by is null then 'refused'
    when new.expires_at is distinct from old.expires_at then 'shown'
  end;
  if v_event is null then
    return new;
  end if;
  v_details := case
    when v_event = 'shown' then json_build_object('deliveryId', new.delivery_id, 'expiresAt', iso8601(new.expires_at))
    when v_event in ('approved', 'rejected') then json_build_object(
      'by', new.decided_by, 'right', new.word_right, 'reason', new.reason, 'inputDigest', new.input_digest,
      'cardDigest', new.card_digest)
    when v_event = 'run_again' then json_build_object(
      'by', new.again_by, 'right', new.word_right, 'attempt', new.attempt)
    when v_event = 'applying' then json_build_object(
      'by', coalesce(old.again_by, new.decided_by), 'attempt', new.attempt, 'deploymentId', new.deployment_id,
      'toolDigest', new.tool_digest, 'inputDigest', new.input_digest)
    when v_event = 'expired' then json_build_object('expiresAt', iso8601(new.expires_at))
    else json_build_object(
      'attempt', new.attempt, 'code', new.error_code, 'resultDigest', digest_of(new.result::text))
  end;
  v_head := append_decision_record(new.id, v_event, v_details);
  new.record_seq := v_head.seq;
  new.record_hash := v_head.hash;
  return new;
end
$$;
