/** Placeholder of the wire's result, replaced below in this file's next commit. */
export interface Result {
  readonly operation_id: string
  readonly status: string
  readonly exit: number
  readonly agent_text: string
}
