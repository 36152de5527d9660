#!/usr/bin/env node
import { demo } from "./demo/demo.ts"

process.exitCode = await demo({
  write: (text) => process.stdout.write(text),
  colour: process.stdout.isTTY === true && process.env["NO_COLOR"] === undefined,
})
