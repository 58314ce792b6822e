// Sends five records as the tag app.x, then waits until all are acknowledged.
//   node fluent_logger.js PORT MODE [KEY [USER PASSWORD]]
const logger = require("fluent-logger");
const [port, eventMode, sharedKey, username = "", password = ""] = process.argv.slice(2);

function fail(error) {
  console.log("error: " + (error.message || error));
  process.exit(1);
}

const options = {
  host: "127.0.0.1",
  port: Number(port),
  eventMode,
  requireAckResponse: true,
  ackResponseTimeout: 5000,
  enableReconnect: false,
  flushInterval: 20,
  internalLogger: { info() {}, error: fail },
};
if (sharedKey !== undefined) options.security = { clientHostname: "client", sharedKey, username, password };
const sender = logger.createFluentSender("app", options);
sender.on("error", fail);

let acknowledged = 0;
for (let n = 1; n <= 5; n++) {
  sender.emit("x", { n }, new logger.EventTime(1700000000 + n, 5), (error) => {
    if (error) fail(error);
    if (++acknowledged < 5) return;
    console.log("acknowledged");
    sender.end(null, null, () => process.exit(0));
  });
}
