/** `turnpike account refund`. */
import type { Command } from 'commander'
import { refundEndpoints } from '../operations/requests/refund-endpoints.ts'
import type { Refunded } from '../operations/requests/refunds.ts'
import { command, shown, type Answer } from './command.ts'
import { formatFields } from './output.ts'

export function addRefundCommand(account: Command): void {
  account
    .command('refund')
    .description('give back the charge of one request, or a part of it, once')
    .argument('<request>', "the gateway's id of the request (ex_…), or the vendor's id")
    .option('--usd <amount>', 'a part of the charge, in USD; the whole charge by default')
    .option('--reason <text>', 'a text that the statement shows')
    .addHelpText(
      'after',
      `
Examples:
  turnpike account refund ex_01jd8m3v9k7c2h5n8q4r6t0w1x
  turnpike account refund ex_01jd8m3v9k7c2h5n8q4r6t0w1x --usd 0.02 --reason "half of the answer"`,
    )
    .action(
      command({ store: 'existing' }, async ({ call, arguments: [request], options }) =>
        shown(
          await call(refundEndpoints.refund, {
            request,
            amount_usd: options['usd'],
            reason: options['reason'],
          }),
          showRefunded,
        ),
      ),
    )
}

function showRefunded(refunded: Refunded): Answer {
  const verdict = refunded.repeated
    ? 'This refund is booked already. Nothing changed.'
    : `Gave back ${refunded.amount_usd} of ${refunded.charge_usd} USD.`
  const facts = formatFields({
    request: refunded.request_id,
    account: refunded.account,
    'balance USD': refunded.balance_usd,
  })
  return { json: refunded, text: `${verdict}\n${facts}` }
}
