/** The text of a stream as it comes, for tests that wait for something in it. */
import { finished } from 'node:stream'

export interface Gathered {
  text(): string
  /** The first match, as soon as there is one; rejects with all there was where none came. */
  until(pattern: RegExp): Promise<string>
}

export function gather(stream: NodeJS.ReadableStream): Gathered {
  let text = ''
  let isOver = false
  const lookOuts = new Set<() => void>()
  const lookAll = (): void => {
    for (const look of lookOuts) look()
  }
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
    lookAll()
  })
  finished(stream, { writable: false }, () => {
    isOver = true
    lookAll()
  })

  return {
    text: () => text,
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const match = pattern.exec(text)
          if (match === null && !isOver) return
          lookOuts.delete(look)
          if (match !== null) resolve(match[0])
          else reject(new Error(`${String(pattern)} did not come; what came was:\n${text}`))
        }
        lookOuts.add(look)
        look()
      }),
  }
}
