/** Calls of the member API as a browser with the account page sends them: with its cookies and headers. */
import { send, type WireAnswer } from './http-client.ts'

/** The address of the account page, as the setting `public_url` says. */
export const publicUrl = 'https://gateway.example'

type Changed = Readonly<Record<string, string | undefined>>

export class MemberBrowser {
  /** By name. */
  readonly cookies = new Map<string, string>()
  readonly #url: string

  constructor(url: string) {
    this.#url = url
  }

  /** The same browser at another gateway, with the cookies that it has now. */
  at(url: string): MemberBrowser {
    const browser = new MemberBrowser(url)
    for (const [name, value] of this.cookies) browser.cookies.set(name, value)
    return browser
  }

  /** Sends a call below `/account/v1`; `undefined` takes a header out. */
  async call(
    method: string,
    path: string,
    body?: unknown,
    changed: Changed = {},
  ): Promise<WireAnswer> {
    const isRead = method === 'GET' || method === 'HEAD'
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers: Changed = {
      ...(cookie !== '' && { cookie }),
      'sec-fetch-site': 'same-origin',
      'x-turnpike-account': 'user',
      ...(!isRead && { origin: publicUrl, 'content-type': 'application/json' }),
      ...changed,
    }
    const present = Object.entries(headers).filter(
      (one): one is [string, string] => one[1] !== undefined,
    )
    const answer = await send(`${this.#url}/account/v1${path}`, {
      method,
      headers: Object.fromEntries(present),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    for (const text of answer.headers['set-cookie'] ?? []) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(text) ?? []
      if (text.endsWith('Max-Age=0')) this.cookies.delete(name)
      else this.cookies.set(name, value)
    }
    return answer
  }
}

/** Returns the code of the link in a mail, whose text may be quoted-printable or base64. */
export function codeIn(mail: string): string | undefined {
  const [, encoded] =
    /^content-transfer-encoding: base64\r?\n[^]*?\r?\n\r?\n([^]*)/im.exec(mail) ?? []
  const plain = encoded === undefined ? mail : Buffer.from(encoded, 'base64').toString()
  const text = plain.replaceAll(/=\r?\n/g, '').replaceAll('=3D', '=')
  return /view=sign-(?:in|up)#([A-Za-z0-9_-]{43})/.exec(text)?.[1]
}

export function valueOf(answer: WireAnswer): Record<string, unknown> {
  return JSON.parse(answer.text) as Record<string, unknown>
}
