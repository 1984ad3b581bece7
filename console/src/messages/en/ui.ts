export const ui = { rows: '{count, plural, one {# row} other {# rows}}' } as const
