// The languages, and which of them to speak.
import {createContext} from 'preact';
import {useContext} from 'preact/hooks';
import {remember, remembered} from '../platform';
import {PARAMETERS} from '../parameters';
import {en} from './en';
import {zhHans} from './zh-Hans';
import {zhHant} from './zh-Hant';

export type Messages = typeof en;

const LANGUAGES = {'en': en, 'zh-Hans': zhHans, 'zh-Hant': zhHant} satisfies Record<string, Messages>;

export type Locale = keyof typeof LANGUAGES;

export const LOCALES = Object.keys(LANGUAGES) as Locale[];

export const messagesOf = (locale: Locale): Messages => LANGUAGES[locale];

const STORED = 'oomscope.language';

/** What the address asks for, else the remembered choice, else the browser's language. */
export function preferredLocale(): Locale {
  const asked = fromTag(PARAMETERS.lang ?? '');
  if (asked !== null) return asked;
  const stored = remembered(STORED);
  const known = LOCALES.find(locale => locale === stored);
  if (known !== undefined) return known;
  return (navigator.languages ?? [navigator.language]).map(fromTag).find(locale => locale !== null) ?? 'en';
}

function fromTag(tag: string): Locale | null {
  if (/^zh\b.*\b(hant|tw|hk|mo)\b/i.test(tag)) return 'zh-Hant';
  if (/^zh\b/i.test(tag)) return 'zh-Hans';
  return /^en\b/i.test(tag) ? 'en' : null;
}

export const rememberLocale = (locale: Locale): void => remember(STORED, locale);

const Language = createContext<Messages>(en);

export const LanguageProvider = Language.Provider;

export const useMessages = (): Messages => useContext(Language);
