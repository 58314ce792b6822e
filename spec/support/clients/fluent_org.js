// Sends five records as the tag app.x, then waits until all are acknowledged.
//   node fluent_org.js PORT MODE [KEY [USER PASSWORD]]
const { FluentClient, EventTime } = require("@fluent-org/logger");
const [port, eventMode, sharedKey, username, password] = process.argv.slice(2);

const security = sharedKey === undefined ? {} : { security: { clientHostname: "client", sharedKey, username, password } };
const client = new FluentClient("app", {
  socket: { host: "127.0.0.1", port: Number(port) },
  eventMode,
  ack: { ackTimeout: 5000 },
  ...security,
});

// A connection that is refused for good leaves its records neither sent nor failed.
process.exitCode = 1;

async function run() {
  const sent = [];
  for (let n = 1; n <= 5; n++) sent.push(client.emit("x", { n }, new EventTime(1700000000 + n, 5)));
  await client.flush();
  await Promise.all(sent);
  console.log("acknowledged");
  process.exitCode = 0;
  await client.disconnect();
}

run().catch((error) => {
  console.log("error: " + error.message);
  process.exit(1);
});
