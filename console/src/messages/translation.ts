/** The same keys as the English messages, each with a text; the compiler names those that are missing. */
export type Translation<English> = {
  readonly [Key in keyof English]: English[Key] extends string ? string : Translation<English[Key]>
}
