/**
 * Makes X.509 certificates for a test's TLS server. Node can read certificates but not
 * issue them, a committed private key would trip every secret scanner, and not every machine has
 * openssl; the few DER structures needed are written here instead.
 */
import { createPrivateKey, generateKeyPairSync, randomUUID, sign } from 'node:crypto'

export interface TestCertificate {
  readonly cert: string
  readonly key: string
  /** Its subject, as an issuer is named. */
  readonly name: Buffer
}

interface CertificateOptions {
  /** By default the certificate is its own issuer. */
  readonly issuer?: TestCertificate
  /** The year at whose end it expires. */
  readonly lastYear?: number
}

/** Valid for `hostname` and the address 127.0.0.1, from 2020 on. */
export function makeCertificate(
  hostname: string,
  { issuer, lastYear = 2049 }: CertificateOptions = {},
): TestCertificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const ecdsaWithSha256 = sequence(objectId('2a8648ce3d040302'))
  // Of two trusted issuers of one name, the wrong one may be tried.
  const subject = Buffer.from(`turnpike test ${randomUUID()}`)
  const name = sequence(der(0x31, sequence(objectId('550403'), der(0x0c, subject))))
  const toBeSigned = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    ecdsaWithSha256,
    issuer?.name ?? name,
    sequence(der(0x17, Buffer.from('200101000000Z')), der(0x17, endOf(lastYear))),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(subjectAlternativeName(hostname), basicConstraintsAuthority)),
  )
  const signer = issuer === undefined ? privateKey : createPrivateKey(issuer.key)
  const signature = sign('sha256', toBeSigned, signer)
  const certificate = sequence(toBeSigned, ecdsaWithSha256, bitString(signature))
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${certificate.toString('base64')}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    name,
  }
}

function endOf(year: number): Buffer {
  return Buffer.from(`${String(year).slice(2)}1231235959Z`)
}

function subjectAlternativeName(hostname: string): Buffer {
  const names = sequence(der(0x82, Buffer.from(hostname)), der(0x87, Buffer.from([127, 0, 0, 1])))
  return sequence(objectId('551d11'), der(0x04, names))
}

const basicConstraintsAuthority = sequence(
  objectId('551d13'),
  der(0x01, Buffer.from([0xff])),
  der(0x04, sequence(der(0x01, Buffer.from([0xff])))),
)

function objectId(encodedHex: string): Buffer {
  return der(0x06, Buffer.from(encodedHex, 'hex'))
}

function bitString(bytes: Buffer): Buffer {
  return der(0x03, Buffer.concat([Buffer.from([0]), bytes]))
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts))
}

/** Tag, length, content; lengths up to 65,535. */
function der(tag: number, content: Buffer): Buffer {
  const { length } = content
  let head = [tag, length]
  if (length > 0xff) head = [tag, 0x82, length >> 8, length & 0xff]
  else if (length > 0x7f) head = [tag, 0x81, length]
  return Buffer.concat([Buffer.from(head), content])
}
