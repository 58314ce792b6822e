// Receives entries and writes each as a line of JSON; its port goes to the file `port`, and after COUNT entries it ends.
//   node fluent_server.js COUNT [KEY [USER PASSWORD]]
const fs = require("fs");
const { FluentServer } = require("@fluent-org/logger");
const [count, sharedKey, user, password] = process.argv.slice(2);

const options = { listenOptions: { host: "127.0.0.1", port: 0 } };
if (sharedKey !== undefined) {
  options.security = { serverHostname: "server", sharedKey, authorize: user !== undefined, userDict: { [user]: password } };
}
const server = new FluentServer(options);
let left = Number(count);
server.on("entry", (tag, time, record) => {
  console.log(JSON.stringify([tag, record]));
  // Later, so that the acknowledgement leaves.
  if (--left === 0) setTimeout(() => process.exit(0), 300);
});
server.listen().then(() => {
  fs.writeFileSync("port.new", String(server.port));
  fs.renameSync("port.new", "port");
});
