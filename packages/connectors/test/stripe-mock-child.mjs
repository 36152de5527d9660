// stripe-stateful-mock on a free port of the loopback address; its own program listens on every address.
import { createExpressApp } from "stripe-stateful-mock"

const server = createExpressApp().listen(0, "127.0.0.1", () => process.stdout.write(`${server.address().port}\n`))
process.stdin.on("end", () => process.exit(0)).resume()
