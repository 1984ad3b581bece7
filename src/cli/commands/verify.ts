/** `turnpike verify FILE`: checks a statement offline, as its reader could with examples/verify/verify.py. */
import { invalid, refusalOf } from '../../operations/operation.ts'
import {
  verifiableForm,
  verifyStatement,
  type Verifiable,
  type Verified,
} from '../../operations/reports/verify-statement.ts'
import { textOf } from '../columns.ts'
import { exitCodes, type Answer, type Result } from '../command.ts'
import { readText } from '../field-words.ts'
import { refuseServer } from '../place.ts'
import { plainRow } from '../row.ts'
import type { Given } from '../store-run.ts'

export const verifyCommand = plainRow({
  words: 'verify',
  text: "check a statement's sums, chain and signatures, offline",
  more: {
    '<file>': 'a statement as JSON',
    '--key <key>':
      'the public key, or its id, that you trust; the first one of the file without it',
    '--older <file>': 'a statement that you kept: the new one must continue it',
  },
  help: `Example:
  turnpike account statement acme --from 2027-01-01 --to 2027-01-31 --json > january.json
  turnpike verify january.json --older december.json`,
  work: verify,
})

async function verify({ arguments: [file = ''], options }: Given): Promise<Result> {
  refuseServer(options)
  try {
    const { older, key } = options
    const trustedKey = typeof key === 'string' ? key : undefined
    const statement = await readStatementFile(file)
    const kept = typeof older === 'string' ? await readStatementFile(older) : undefined
    return answerOf(verifyStatement(statement, { trustedKey, older: kept }))
  } catch (error) {
    const refusal = refusalOf(error)
    if (refusal === undefined) throw error
    return refusal
  }
}

async function readStatementFile(path: string): Promise<Verifiable> {
  const parsed = verifiableForm.safeParse(parseJson(await readText(path)))
  if (parsed.success) return parsed.data
  throw invalid(
    `${path} is not a statement as JSON. Get one with: turnpike account statement NAME --json, or ` +
      'GET /v1/usage/statement.',
  )
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    // Any other text is no statement either.
    return undefined
  }
}

const problemsShown = 50

function answerOf({ problems, ...counts }: Verified): Answer {
  const isProven = problems.length === 0
  const facts = {
    lines: counts.lines,
    sealed: counts.sealed,
    bills: counts.bills,
    sealed_until: counts.sealedUntil ?? null,
    key: counts.key ?? null,
  }
  const verdict = isProven
    ? 'The statement is right as far as it is sealed.'
    : `The statement is wrong: ${problems.length === 1 ? '1 problem' : `${problems.length} problems`}.`
  const shown = problems.slice(0, problemsShown).join('\n')
  return {
    json: { ok: isProven, ...facts, problems },
    text: `${textOf(facts)}\n\n${isProven ? '' : `${shown}\n\n`}${verdict}`,
    exitCode: isProven ? exitCodes.done : exitCodes.failed,
  }
}
