/** `turnpike code …`: top-up codes. */
import { codeEndpoints } from '../../operations/codes/endpoints.ts'
import type { NewBatch } from '../../operations/codes/codes.ts'
import type { Answer } from '../command.ts'
import { usdAsNumbers } from '../output.ts'
import { callRow, listRow, type CommandRow } from '../row.ts'

export const codeCommands: readonly CommandRow[] = [
  callRow(codeEndpoints.create, {
    words: 'code create',
    hints: { amount_usd: { flags: '--usd <usd>' } },
    show: showCodes,
    help: `Examples:
  turnpike code create --usd 25 --count 10 --expires 2027-12-31
  turnpike code create --usd 25 --count 10 --json`,
  }),
  listRow(codeEndpoints.list, {
    words: 'code list',
    columns: [
      'id',
      'amount_usd',
      'count',
      'open',
      'redeemed',
      'revoked',
      'expired',
      'created_at',
      'expires_at',
      'note',
    ],
    empty: 'There are no top-up codes. Make some with: turnpike code create --usd 10 --count 5',
  }),
  listRow(codeEndpoints.show, {
    words: 'code show',
    columns: ['id', 'head', 'state', 'account_name', 'redeemed_at', 'revoked_at'],
    empty: 'The batch has no codes.',
  }),
  callRow(codeEndpoints.revoke, {
    words: 'code revoke',
    show: ({ revoked, batch }) =>
      `${revoked} of the ${batch.count} codes of ${batch.id} revoked now; ${batch.open} can be redeemed.`,
  }),
]

/** One code in a line, so that a file of them is a CSV file with one column. */
function showCodes({ batch, codes }: NewBatch): Answer {
  return {
    json: usdAsNumbers({ ...batch, codes }),
    text: `${codes.join('\n')}\n\nCopy them now: they are not shown again. The id of the batch is ${batch.id}.`,
    ifLost: `The codes are lost. Revoke them: turnpike code revoke ${batch.id}`,
  }
}
