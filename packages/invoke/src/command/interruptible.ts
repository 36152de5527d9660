/** For long commands that change nothing: an interrupt ends them at once, where others end only their waiting. */
import type { Run } from "./define-command.ts"

export class Interrupted extends Error {
  override readonly name = "Interrupted"
}

export async function interruptible<T>({ world: { interrupted } }: Run, work: Promise<T>): Promise<T> {
  let stop = (): void => undefined
  const end = new Promise<never>((_resolve, reject) => {
    stop = () => reject(new Interrupted("interrupted"))
    interrupted.addEventListener("abort", stop)
  })
  try {
    return await Promise.race([work, end])
  } finally {
    interrupted.removeEventListener("abort", stop)
  }
}
