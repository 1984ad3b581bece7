/** Exact sums and products of decimal text. Twelve decimals are the gateway's smallest amount. */
const decimals = 12

/** Millionths of millionths of a dollar. */
function parse(usd: string): bigint {
  const [whole = '0', fraction = ''] = usd.replace('-', '').split('.')
  const amount = BigInt(whole + fraction.slice(0, decimals).padEnd(decimals, '0'))
  return usd.startsWith('-') ? -amount : amount
}

function print(amount: bigint): string {
  const digits = (amount < 0n ? -amount : amount).toString().padStart(decimals + 1, '0')
  const fraction = digits.slice(-decimals).replace(/0+$/, '')
  const whole = digits.slice(0, -decimals)
  return `${amount < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`
}

export function sumUsd(amounts: readonly string[]): string {
  return print(amounts.reduce((sum, amount) => sum + parse(amount), 0n))
}

/** A price times a factor of at most six decimals. */
export function scaleUsd(price: string, factor: string): string {
  // Twelve decimals hold the product of two numbers with six.
  return print((parse(price) * parse(factor)) / 10n ** BigInt(decimals))
}

/** Decimal text of a JSON number; numbers below a millionth would otherwise print with an exponent. */
export function usdText(value: number): string {
  const printed = String(value)
  return printed.includes('e') ? print(parse(value.toFixed(decimals))) : printed
}
