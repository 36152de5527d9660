import { defineConfig } from "vitest/config"

// Tests run against the built packages: `npm test` builds first, and `dist` is loaded by Node itself, as a user's process
// would load it, so that child processes, workers and this process all run the same files.
const LONG_TESTS = "**/*.long.test.ts"

export default defineConfig(({ mode }) => ({
  test: {
    include: ["packages/*/test/**/*.test.ts", "test/**/*.test.ts"],
    exclude: ["**/node_modules/**", "**/dist/**", ...(mode === "long" ? [] : [LONG_TESTS])],
    pool: "forks",
    maxWorkers: 2,
    // Tests wait on conditions; these bounds only turn a hang into a failure, so they are far above any honest run.
    testTimeout: mode === "long" ? 600_000 : 60_000,
    hookTimeout: 60_000,
    teardownTimeout: 20_000,
    allowOnly: false,
    server: { deps: { external: [/\/packages\/[^/]+\/dist\//] } },
  },
}))
