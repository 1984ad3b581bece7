/** `turnpike doctor`: opens the store as it is, so that what is the matter with it can be a finding. */
import type { Command } from 'commander'
import { describeConfig } from '../config.ts'
import { diagnose, diagnoseOutage, type Diagnosis } from '../operations/doctor.ts'
import { withCheck } from './check.ts'
import { demandStoreFor } from './existing-store.ts'
import {
  answering,
  exitCodes,
  readConfig,
  withStoreAsItIs,
  type Answer,
  type Given,
} from './shell.ts'
import { formatFields, formatTable } from './table.ts'

export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description('examine settings, store, catalogue and vendors, and say what to do')
    .action(
      answering(async (given) =>
        showDiagnosis(await examine(given), describeConfig(readConfig(given.options))),
      ),
    )
}

async function examine(given: Given): Promise<Diagnosis> {
  try {
    await demandStoreFor(given)
    return await withStoreAsItIs(given, (context, config) =>
      withCheck(config, (run) => diagnose(context, run)),
    )
  } catch (error) {
    const diagnosis = diagnoseOutage(error)
    if (diagnosis === undefined) throw error
    return diagnosis
  }
}

function showDiagnosis(
  { ok, findings }: Diagnosis,
  settings: Readonly<Record<string, string>>,
): Answer {
  const table = formatTable(
    ['', 'area', 'finding'],
    findings.map(({ status, area, message }) => [status, area, message]),
    '',
  )
  const verdict = ok ? 'Nothing keeps the gateway from working.' : 'There are problems to solve.'
  return {
    json: { ok, settings, findings },
    text: `${formatFields(settings)}\n\n${table}\n\n${verdict}`,
    exitCode: ok ? exitCodes.done : exitCodes.failed,
  }
}
