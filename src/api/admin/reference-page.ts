/**
 * The reference page of the admin API: one HTML page made from the OpenAPI document, without scripts and
 * without an address of another origin.
 */
import { hash } from 'node:crypto'

type Json = Readonly<Record<string, unknown>>

const style = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h2 { margin-top: 2.5rem; } code, pre { font: 14px/1.4 ui-monospace, monospace; }
pre { background: #f4f4f4; padding: .75rem; overflow: auto; }
table { border-collapse: collapse; } th, td { text-align: left; padding: .2rem 1rem .2rem 0; vertical-align: top; }
@media (prefers-color-scheme: dark) { body { background: #111; color: #ddd; } pre { background: #222; } a { color: #8bf; } }
`

/** Lets the page load nothing but its own style. */
export const pagePolicy = `default-src 'none'; style-src 'sha256-${hash('sha256', style, 'base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

export function printReferencePage(document: Json): string {
  const calls = Object.entries(document['paths'] as Record<string, Record<string, Json>>).flatMap(
    ([path, methods]) =>
      Object.entries(methods).map(([method, call]) => ({
        name: `${method.toUpperCase()} ${path}`,
        id: String(call['operationId']),
        call,
      })),
  )
  const contents = calls.map(
    ({ name, id, call }) =>
      `<tr><td><a href="#${escape(id)}"><code>${escape(name)}</code></a></td><td>${text(call['summary'])}</td></tr>`,
  )
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Turnpike admin API</title><style>${style}</style></head><body>
<h1>Turnpike admin API</h1>
<p>${text((document['info'] as Json)['description'])} The same as data: <a href="openapi.json">openapi.json</a>.</p>
<table>${contents.join('\n')}</table>
${calls.map(({ name, id, call }) => printCall(name, id, call)).join('\n')}
</body></html>
`
}

function printCall(name: string, id: string, call: Json): string {
  const parameters = (call['parameters'] as readonly Json[]).map(
    (one) =>
      `<tr><td><code>${text(one['name'])}</code></td><td>${text(one['in'])}${one['required'] === true ? ', required' : ''}</td><td><code>${escape(JSON.stringify(one['schema']))}</code></td></tr>`,
  )
  const body =
    call['requestBody'] === undefined ? '' : `<h3>Body</h3>${content(call['requestBody'])}`
  const answers = Object.entries(call['responses'] as Record<string, Json>)
    .filter(([status]) => status !== 'default')
    .map(
      ([status, answer]) =>
        `<h3>${escape(status)}</h3><p>${text(answer['description'])}</p>${content(answer)}`,
    )
  return `<h2 id="${escape(id)}"><code>${escape(name)}</code></h2>
<p>${text(call['summary'])} ${text(call['description'])}</p>
<table>${parameters.join('\n')}</table>
${body}
${answers.join('\n')}`
}

function content(place: unknown): string {
  const types = Object.entries(((place as Json)['content'] ?? {}) as Record<string, Json>)
  return types
    .map(([type, shown]) => {
      const json = JSON.stringify(shown['schema'] ?? {}, undefined, 2)
      const example =
        shown['example'] === undefined
          ? ''
          : `<p>Example:</p><pre>${escape(JSON.stringify(shown['example'], undefined, 2))}</pre>`
      return `<p><code>${escape(type)}</code></p>${example}<details><summary>schema</summary><pre>${escape(json)}</pre></details>`
    })
    .join('')
}

function text(value: unknown): string {
  return escape(typeof value === 'string' ? value : '')
}

function escape(given: string): string {
  return given.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
