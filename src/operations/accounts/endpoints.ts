/** Endpoints of accounts and their credits. */
import { listAccounts, showAccount } from './account-list.ts'
import { changeAccount, createAccount, creditAccount } from './accounts.ts'
import { printStatement } from '../reports/statement-text.ts'
import { readStatementFigures } from '../reports/statement-figures.ts'
import { accountUsage } from '../reports/usage.ts'
import { endpoints, rowOf, type StreamEndpoint } from '../endpoint.ts'
import { statementForm } from '../reports/statement-form.ts'

export const accountEndpoints = endpoints('accounts', {
  list: {
    route: 'GET /accounts',
    summary: 'List accounts with their spend of the last 30 days.',
    operation: listAccounts,
    isExported: true,
    example: { sort: 'balance', order: 'asc', limit: 20 },
  },
  create: {
    route: 'POST /accounts',
    summary: 'Create an account.',
    operation: createAccount,
    repeats: 'money',
    status: 201,
    example: { name: 'new-customer', balance_usd: '25', rpm: 60 },
  },
  statementFigures: {
    id: 'accounts.statement_figures',
    route: 'GET /accounts/{account}/statement/figures',
    summary: 'Read opening balance, sums and closing balance of a period, without its lines.',
    operation: readStatementFigures,
    example: { from: '2026-01-01' },
  },
  show: {
    route: 'GET /accounts/{account}',
    summary: 'Show one account, by id or name.',
    operation: showAccount,
    isForCredits: true,
    // Charges change the amounts. The answer of a change has only the balance.
    untagged: ['balance_usd', 'held_usd', 'available_usd', 'spend', 'has_paid'],
  },
  change: {
    route: 'PATCH /accounts/{account}',
    summary: 'Change an account: name, profile, limits, status; what you leave out stays.',
    operation: changeAccount,
    read: 'show',
    example: { daily_usd: '5', rpm: 120 },
  },
  usage: {
    route: 'GET /accounts/{account}/usage',
    summary: 'Show the usage of an account, as its read-only token sees it.',
    operation: accountUsage,
    example: { period: 'month' },
  },
  credit: {
    route: 'POST /accounts/{account}/credits',
    summary: 'Book a credit; a negative amount takes money back.',
    operation: creditAccount,
    isForCredits: true,
    repeats: 'money',
    status: 201,
    example: { amount_usd: '12.50', reference: 'invoice-1042' },
  },
})

export const accountStreams = {
  statement: rowOf('accounts.statement', {
    route: 'GET /accounts/{account}/statement',
    summary: 'Read credits and charges, oldest first, with the calculation of each charge.',
    stream: printStatement,
    answer: statementForm,
    contentTypes: { json: 'application/json', csv: 'text/csv; charset=utf-8' },
    example: { from: '2026-01-01' },
  }) satisfies StreamEndpoint,
}
