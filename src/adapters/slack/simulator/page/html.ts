export const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Slack simulator</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/simulator/page.css">
<script type="module" src="/simulator/page.js"></script>
</head>
<body>
<header>
  <strong>Slack simulator: nothing here is real Slack</strong>
  <label>You are <select id="person"></select></label>
  <span id="connection" role="status"></span>
</header>
<nav id="channels" aria-label="Channels"></nav>
<main>
  <div id="threads" aria-live="polite"></div>
  <form id="compose">
    <textarea name="text" rows="2" required aria-label="Message"></textarea>
    <button>Send</button>
    <p id="hint"></p>
  </form>
</main>
<dialog id="modal"></dialog>
<p id="problem" role="alert"></p>
</body>
</html>
`;
