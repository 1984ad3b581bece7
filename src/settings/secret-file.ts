/** Reads the secret of a setting that may stand in a file. */
import { readFileSync } from 'node:fs'
import { GatewayError } from '../base/errors.ts'
import { Secret } from '../base/secret.ts'

/** Throws `operations.invalid` where the file of this setting cannot be read. */
export function readSecretFile(file: string, setting: string): Secret {
  try {
    return new Secret(readFileSync(file, 'utf8').trim())
  } catch (error) {
    throw new GatewayError(
      'operations.invalid',
      `The file ${file} of ${setting} cannot be read. Correct the path or its permissions.`,
      { cause: error },
    )
  }
}
