/** The settings in force of the process that answers: of a gateway, or of a command on the store. */
import { z } from 'zod'
import type { SettingInForce } from '../../settings/in-force.ts'
import { operation } from '../operation.ts'

/** By subject, in the order of docs/configuration.md. */
export const showSettings = operation(
  z.strictObject({}),
  ({ settings = [] }): Promise<{ readonly settings: readonly SettingInForce[] }> =>
    Promise.resolve({ settings }),
)
