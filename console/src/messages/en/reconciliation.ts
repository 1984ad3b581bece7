export const reconciliation = {} as const
