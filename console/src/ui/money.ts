/** Sums of amounts, exact: each is decimal text, as the API gives it. */
const picoDigits = 12

export function addUsd(...amounts: readonly string[]): string {
  const picos = amounts.reduce((sum, amount) => sum + picosOf(amount), 0n)
  const digits = (picos < 0n ? -picos : picos).toString().padStart(picoDigits + 1, '0')
  const fraction = digits.slice(-picoDigits).replace(/0+$/, '')
  const whole = digits.slice(0, -picoDigits)
  return `${picos < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`
}

function picosOf(usd: string): bigint {
  const [whole = '0', fraction = ''] = usd.replace('-', '').split('.')
  const picos = BigInt(whole + fraction.padEnd(picoDigits, '0').slice(0, picoDigits))
  return usd.startsWith('-') ? -picos : picos
}
