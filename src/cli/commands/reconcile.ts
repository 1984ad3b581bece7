/** `turnpike channel reconcile …`: what a vendor bills beside what the gateway expects, and the kept runs. */
import { reconciliationEndpoints } from '../../operations/reconcile/endpoints.ts'
import type { Reconciliation } from '../../operations/reconcile/reconcile.ts'
import { textOf } from '../columns.ts'
import { callRow, listRow, type CommandRow } from '../row.ts'

export const reconcileCommands: readonly CommandRow[] = [
  callRow(reconciliationEndpoints.create, {
    words: 'channel reconcile',
    arguments: ['channel'],
    help: `Example:
  turnpike channel reconcile alpha-main --from 2027-01-01 --to 2027-01-31 --vendor-file usage.csv cost.csv
  turnpike channel reconcile alpha-main --from 2027-01-01 --to 2027-01-31 --vendor-file cost.csv --accept --note rounding`,
    show: reconciliationText,
  }),
  listRow(reconciliationEndpoints.list, {
    words: 'channel reconciliations',
    empty: 'No file of a vendor has been compared yet.',
  }),
  callRow(reconciliationEndpoints.accept, { words: 'channel accept' }),
]

/** The counts of all models are one table. */
function reconciliationText({ result, ...reconciliation }: Reconciliation): string {
  const counts = reconciliation.models.flatMap(({ model, counts: own }) =>
    own.map((count) => ({ model, ...count })),
  )
  const models = reconciliation.models.map(({ counts: _counts, ...model }) => model)
  return `${textOf({ ...reconciliation, models, counts })}\n\n${result}`
}
