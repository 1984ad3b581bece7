/** The settings in force of the process that answers: of a gateway, or of a command on the store. */
import { z } from 'zod'
import { settingSources } from '../../settings/in-force.ts'
import { noInput, operation } from '../operation.ts'

const settingForm = z.strictObject({
  name: z.string(),
  group: z.string().meta({ description: 'The subject that it belongs to.' }),
  value: z.string().nullable().meta({ description: '`***` for a secret; null = not set.' }),
  source: z.enum(settingSources),
  place: z.string().nullable().meta({ description: 'The file, with the line.' }),
  default: z.string().nullable().meta({ description: 'As text, or in words; null = none.' }),
  meaning: z.string().meta({ description: 'Markdown.' }),
})

/** By subject, in the order of docs/configuration.md. */
export const showSettings = operation(
  { input: noInput, answer: z.strictObject({ settings: z.array(settingForm).readonly() }) },
  ({ settings = [] }) => Promise.resolve({ settings }),
)
