export const entries = {} as const
