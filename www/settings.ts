// What a person, or a page around this one, may choose for the whole page.
import type {Locale} from './i18n';
import {rememberLocale} from './i18n';
import {set} from './state';
import type {ThemeChoice} from './theme';
import {rememberTheme, wear} from './theme';

/** All charts follow at once: their colours are part of the state. */
export function setTheme(themeChoice: ThemeChoice): void {
  rememberTheme(themeChoice);
  set({themeChoice, theme: wear(themeChoice)});
}

export function setLocale(locale: Locale): void {
  rememberLocale(locale);
  set({locale});
}
