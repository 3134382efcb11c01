/** Fills the elements of a page with the texts that their attribute `data-text` names. */
export function translatePage(): void {
  document.documentElement.lang = messenger.i18n.getUILanguage()
  for (const element of document.querySelectorAll<HTMLElement>('[data-text]')) {
    element.textContent = messenger.i18n.getMessage(element.dataset['text'] ?? '')
  }
}

/** Returns the form of a page. */
export function formOf(): HTMLFormElement {
  const [form] = document.forms
  if (!form) throw new Error('The page has no form.')
  return form
}

/** Returns the field of a form with a name. */
export function fieldOf(form: HTMLFormElement, name: string): HTMLInputElement {
  const field = form.elements.namedItem(name)
  if (field instanceof HTMLInputElement) return field
  throw new Error(`The form has no field ${name}.`)
}
