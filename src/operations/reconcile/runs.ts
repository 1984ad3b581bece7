/** The kept comparisons with files of a vendor, as operators read and accept them. */
import { z } from 'zod'
import { formatUsd, subtractPicos } from '../../base/money.ts'
import { readActorNames, recordAction, type ActorNames } from '../actions.ts'
import { moment, pageForm, usd, type Answer } from '../answer-forms.ts'
import { note, searchWord } from '../input.ts'
import { notFound, operation, timeOrNull, timeText } from '../operation.ts'
import { pageFields, pageOf } from '../paging.ts'
import { resultOf } from './comparison.ts'
import { listRuns, saveAcceptance, type KeptRun } from './run-store.ts'

const runForm = z.strictObject({
  id: z.string(),
  at: moment,
  actor: z.string(),
  actor_name: z.string().nullable().meta({ description: 'Of the token; null for a command.' }),
  channel: z.string(),
  from: moment,
  to: moment,
  files: z.array(
    z.strictObject({
      name: z.string().meta({ description: 'Empty where it was sent without one.' }),
      sha256: z.string(),
    }),
  ),
  result: z.string().meta({ description: 'In one line, as the comparison has it.' }),
  vendor_usd: usd.nullable().meta({ description: 'Null where the files name no cost.' }),
  expected_usd: usd,
  difference_usd: usd.nullable(),
  note: z.string(),
  accepted_by: z.string().nullable(),
  accepted_by_name: z.string().nullable(),
  accepted_at: moment.nullable(),
})

const listInput = z.strictObject({
  channel: searchWord
    .optional()
    .describe('Only of this channel, or all for those of all channels.'),
  ...pageFields,
})

/** Newest first. */
export const listKeptRuns = operation(
  { input: listInput, answer: pageForm(runForm) },
  async ({ database }, { channel, cursor, limit }) => {
    const rows = await listRuns(database, { channel, beforeId: cursor, countMax: limit + 1 })
    const names = await readActorNames(database)
    return pageOf(rows, { limit, cursorOf: ({ id }) => id, view: (run) => viewRun(run, names) })
  },
)

const acceptInput = z.strictObject({
  reconciliation: searchWord.describe('Id of the comparison.'),
  note: note.optional().describe('Why it is accepted; it takes the place of an earlier note.'),
})

export const acceptRun = operation(
  { input: acceptInput, answer: runForm },
  (context, { reconciliation: id, note: given }) =>
    context.database.transact(async (transaction) => {
      const accepted = { by: context.actor, atMs: context.clock.now(), note: given }
      const run = await saveAcceptance(transaction, id, accepted)
      if (run === undefined) throw notFound(`There is no reconciliation ${id}.`)
      const view = viewRun(run, await readActorNames(transaction))
      await recordAction(transaction, context, {
        action: 'reconciliation.accept',
        subject: run.channel,
        detail: { reconciliation: id, result: view.result, note: run.note },
      })
      return view
    }),
)

function viewRun(run: KeptRun, names: ActorNames): Answer<typeof runForm> {
  const { vendorPicos, expectedPicos, acceptedBy } = run
  const sums = {
    vendor_usd: vendorPicos === undefined ? null : formatUsd(vendorPicos),
    expected_usd: formatUsd(expectedPicos),
    difference_usd:
      vendorPicos === undefined ? null : formatUsd(subtractPicos(vendorPicos, expectedPicos)),
  }
  return {
    id: run.id,
    at: timeText(run.atMs),
    actor: run.actor,
    actor_name: names.get(run.actor) ?? null,
    channel: run.channel,
    from: timeText(run.fromMs),
    to: timeText(run.toMs),
    files: run.files,
    result: resultOf(sums),
    ...sums,
    note: run.note,
    accepted_by: acceptedBy ?? null,
    accepted_by_name: names.get(acceptedBy ?? '') ?? null,
    accepted_at: timeOrNull(run.acceptedAtMs),
  }
}
