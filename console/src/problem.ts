/** A refusal of the gateway, as the pages show it. Both pages use it; it knows neither of their APIs. */
import { reworded, said, t } from './messages/t.ts'

interface ProblemDetails {
  /** One sentence for the reader: the fault and the remedy. */
  readonly detail?: string | undefined
  readonly code?: string | undefined
  readonly request_id?: string | undefined
  readonly mistakes?: readonly unknown[] | undefined
  readonly changes?: readonly unknown[] | undefined
  readonly errors?: readonly { readonly field: string; readonly message: string }[] | undefined
}

/** In the language of the page as far as it knows the sentence or the code, else as the gateway says it. */
function textOf(status: number, { code = '', detail, errors = [] }: ProblemDetails): string {
  if (detail === undefined) return t('ui.state.answered', { status: String(status) })
  const own = reworded(detail)
  if (own !== detail) return own
  const faults = errors.map(({ field, message }) =>
    field === '' ? reworded(message) : `${field}: ${reworded(message)}`,
  )
  return said(`problems.${code}`, detail, { detail: faults.join('; ') || detail })
}

/** A refusal of an API, or a request that found no gateway (`status` 0). */
export class Problem extends Error {
  readonly status: number
  readonly code: string
  /** Wrong fields by their path in the body or the query. */
  readonly fields: Readonly<Record<string, string>>
  readonly requestId: string | undefined
  /** Mistakes in a file, as its endpoint describes them. */
  readonly mistakes: readonly unknown[]
  /** What other operators have changed since, as the endpoint describes it. */
  readonly changes: readonly unknown[]

  constructor(status: number, details: ProblemDetails) {
    super(textOf(status, details))
    this.status = status
    this.code = details.code ?? 'unknown'
    this.requestId = details.request_id
    this.mistakes = details.mistakes ?? []
    this.changes = details.changes ?? []
    this.fields = Object.fromEntries(
      (details.errors ?? []).map(({ field, message }) => [field, reworded(message)]),
    )
  }
}
