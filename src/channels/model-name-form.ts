/** How a model may be named. No commas and no spaces: they would break lists of models and command lines. */
export const modelNameForm = /^[A-Za-z0-9][A-Za-z0-9._:/@+[\]-]{0,127}$/

export const modelNameRule =
  '1 to 128 letters, digits and . _ : / @ + - [ ], and begins with a letter or digit'
