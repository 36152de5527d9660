declare module "undici/lib/dispatcher/agent.js" {
  import { Agent } from "undici"
  export default Agent
}
