export const STYLE = `
:root { color-scheme: light dark; --line: light-dark(#d9d9de, #3a3a42); --soft: light-dark(#6b6b76, #9d9da8);
  --card: light-dark(#fff, #1e1e22); --accent: #1264a3; --go: #007a5a; --danger: #c0244c; }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; grid-template: auto 1fr / 13rem 1fr; font: 15px/1.5 system-ui, sans-serif;
  background: light-dark(#f5f5f7, #141417); }
header { grid-column: 1 / -1; display: flex; flex-wrap: wrap; gap: .3rem 1.5rem; align-items: center; padding: .6rem 1rem;
  background: #4a154b; color: #fff; }
header select { font: inherit; }
#connection { margin-left: auto; opacity: .8; }
nav { padding: 1rem .6rem; border-right: 1px solid var(--line); }
nav button { display: block; width: 100%; padding: .3rem .6rem; border: 0; border-radius: 6px; background: none; font: inherit;
  text-align: left; cursor: pointer; }
nav button[aria-current] { background: var(--accent); color: #fff; }
main { display: grid; grid-template-rows: 1fr auto; height: calc(100vh - 3.2rem); min-width: 0; }
#threads { overflow-y: auto; padding: 1rem; }
.thread { max-width: 46rem; margin: 0 0 1rem; border: 1px solid var(--line); border-radius: 10px; background: var(--card); }
.message { padding: .6rem .9rem; overflow-wrap: anywhere; }
.message + .message { margin-left: 1.2rem; border-top: 1px solid var(--line); }
.message h2 { display: inline; margin: 0; font-size: 1em; }
.tag { padding: 0 .35em; border-radius: 4px; background: var(--line); font-size: .75em; vertical-align: middle; }
.meta, .status, .context, #hint, .empty { color: var(--soft); font-size: .87em; }
.status { padding: 0 .9rem .5rem 2.1rem; font-style: italic; }
.block { margin: .35rem 0; white-space: pre-wrap; }
.block h3 { margin: 0; font-size: 1.1em; }
.fields { display: grid; grid-template-columns: repeat(auto-fit, minmax(14rem, 1fr)); gap: .3rem 1rem; }
.buttons { display: flex; flex-wrap: wrap; gap: .4rem; }
.buttons button, form button { padding: .3rem .8rem; border: 1px solid var(--line); border-radius: 6px; background: var(--card);
  color: inherit; font: inherit; font-weight: 600; cursor: pointer; overflow-wrap: anywhere; }
.buttons button.primary, form button { border-color: var(--go); background: var(--go); color: #fff; }
.buttons button.danger { border-color: var(--danger); background: var(--danger); color: #fff; }
.private { border-left: 3px solid var(--soft); background: light-dark(#fafafa, #232328); }
code, pre { font: .9em ui-monospace, monospace; background: light-dark(#eeeef1, #2b2b31); border-radius: 4px; }
code { padding: 0 .25em; }
pre { margin: .3rem 0; padding: .5rem; white-space: pre-wrap; }
blockquote { margin: .2rem 0; padding-left: .7rem; border-left: 3px solid var(--line); }
.mention { padding: 0 .2em; border-radius: 4px; background: light-dark(#e3effa, #20384c); color: light-dark(#1264a3, #7cc0f2); }
form { display: flex; flex-wrap: wrap; gap: .5rem; padding: .7rem 1rem; border-top: 1px solid var(--line); }
.thread form { margin-left: 1.2rem; padding: .5rem .9rem; }
form textarea, form input { flex: 1; min-width: 8rem; padding: .4rem .6rem; border: 1px solid var(--line); border-radius: 6px;
  background: var(--card); color: inherit; font: inherit; }
#hint { flex-basis: 100%; margin: 0; }
dialog { width: min(34rem, 92vw); border: 1px solid var(--line); border-radius: 10px; }
dialog form { display: block; border: 0; }
dialog label { display: grid; margin: .6rem 0; }
#problem:empty { display: none; }
#problem { position: fixed; inset: auto 1rem 1rem auto; margin: 0; padding: .6rem 1rem; border-radius: 8px; background: var(--danger);
  color: #fff; max-width: 30rem; }
@media (max-width: 40rem) { body { grid-template: auto auto 1fr / 1fr; } nav { display: flex; flex-wrap: wrap; border: 0; padding: .4rem; }
  nav button { width: auto; } }
`;
