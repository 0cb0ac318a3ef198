/** Everything a run wrote but the decision record, which is only ever appended to: its chain goes on with the next run. */
export const FORGET = `
  delete from deliveries; delete from decision_attempts; delete from decisions; delete from questions;
  delete from turns; delete from events; delete from session_people; delete from session_labels; delete from sessions;
  delete from inbox; update clock set shift = interval '0'`;
