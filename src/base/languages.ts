/** The languages of the mails that account holders get. The message files of mails have one file for each. */
export const languages = ['en', 'zh-CN'] as const
export type Language = (typeof languages)[number]

/** Of an account that names no other. */
export const defaultLanguage: Language = 'en'
