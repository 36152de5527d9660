export { Scheduler } from "./simulator/scheduler.ts"
export { SeededRandom } from "./simulator/seeded-random.ts"
