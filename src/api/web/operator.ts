/**
 * What account holders see of the operator: name, contact and logo, from the settings. It is public. The logo
 * is read at the start, so that a wrong path is an error then.
 */
import { readFileSync, statSync } from 'node:fs'
import { GatewayError } from '../../base/errors.ts'
import { siteFile, type Content, type SiteFile } from './site-file.ts'

export interface Operator {
  readonly name: string | null
  /** A `mailto:` or `https:` address, or plain text. */
  readonly contact: string | null
  readonly logo: SiteFile | undefined
}

const logoBytesMax = 262_144

/** Throws `operations.invalid` where the logo cannot be read, or is too large. */
export function loadOperator(settings: {
  readonly operatorName: string | undefined
  readonly operatorContact: string | undefined
  readonly operatorLogo: string | undefined
}): Operator {
  const { operatorName: name, operatorContact: contact, operatorLogo: path } = settings
  return {
    name: name ?? null,
    contact: contact ?? null,
    logo: path === undefined ? undefined : siteFile(path, readLogo(path)),
  }
}

function readLogo(path: string): Content {
  try {
    const facts = statSync(path)
    // A pipe would keep the start waiting, and a device has no end.
    if (!facts.isFile()) throw new Error('not a file')
    if (facts.size > logoBytesMax)
      throw new GatewayError(
        'operations.invalid',
        `The file ${path} of operator_logo is larger than 256 KiB. Use a smaller image.`,
      )
    return readFileSync(path)
  } catch (error) {
    if (error instanceof GatewayError) throw error
    throw new GatewayError(
      'operations.invalid',
      `The file ${path} of operator_logo cannot be read. Correct the path or its permissions.`,
      { cause: error },
    )
  }
}
