/** `turnpike doctor`: opens the store as it is, so that what is the matter with it can be a finding. */
import type { Command } from 'commander'
import { describeConfig } from '../config.ts'
import { diagnose, type Diagnosis } from '../operations/doctor.ts'
import { withCheck } from './check.ts'
import { demandingStore } from './existing-store.ts'
import { answering, exitCodes, withStoreAsItIs, type Answer } from './shell.ts'
import { formatFields, formatTable } from './table.ts'

export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description('examine settings, store, catalogue and vendors, and say what to do')
    .action(
      demandingStore(
        answering((given) =>
          withStoreAsItIs(given, (context, config) =>
            withCheck(config, async (run) =>
              showDiagnosis(await diagnose(context, run), describeConfig(config)),
            ),
          ),
        ),
      ),
    )
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
