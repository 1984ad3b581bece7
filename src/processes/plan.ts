/**
 * What `turnpike serve` hands to the supervisor. The supervisor takes the place of the command in the same
 * process: the command has loaded the whole program, and the supervisor needs little of it for a long time.
 */
import { z } from 'zod'

/** The variable in which the supervisor finds its plan. */
export const planVariable = 'TURNPIKE_SUPERVISOR_PLAN'

const address = z.object({ host: z.string(), port: z.int() })

const plan = z.object({
  count: z.int(),
  listen: address,
  adminListen: address,
  nodeName: z.string(),
  logLevel: z.string(),
  logDescriptor: z.int(),
})

export type Plan = z.output<typeof plan>

export function writePlan(given: Plan): string {
  return JSON.stringify(given)
}

export function readPlan(text: string): Plan {
  return plan.parse(JSON.parse(text))
}
