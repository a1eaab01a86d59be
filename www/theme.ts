// Which theme the page wears, and the colours of its tokens as numbers for the canvases and the engine.

import type {Line} from '../target/plain/pkg/oomscope';
import {PARAMETERS} from './parameters';
import {remember, remembered} from './platform';

export type ThemeChoice = 'system' | 'light' | 'dark';

export const THEME_CHOICES: ThemeChoice[] = ['system', 'light', 'dark'];

const STORED = 'oomscope.theme';
const DARK = '(prefers-color-scheme: dark)';

const known = (text: string | null): ThemeChoice | undefined => THEME_CHOICES.find(choice => choice === text);

/** What the address asks for, else the remembered choice, else what the system says. */
export const preferredTheme = (): ThemeChoice => known(PARAMETERS.theme) ?? known(remembered(STORED)) ?? 'system';

export const rememberTheme = (choice: ThemeChoice): void => remember(STORED, choice);

/** Dresses the page, and reads its colours. */
export function wear(choice: ThemeChoice): Theme {
  const dark = choice === 'system' ? matchMedia(DARK).matches : choice === 'dark';
  document.documentElement.dataset['theme'] = dark ? 'dark' : 'light';
  return currentTheme();
}

/** 0xRRGGBB each. */
export interface Theme {
  /** Twelve hues and the grey of the rest. */
  palette: number[];
  /** Eight steps for sizes and times, from small to large. */
  ramp: number[];
  /** Of the mark for further blocks. */
  density: number;
  /** Behind everything, and the letters of names upon it. */
  background: number;
  name: number;
  text: number;
  grid: number;
  total: number;
  baseline: number;
  reserved: number;
  active: number;
  /** The further curves. */
  lines: Record<Line, number>;
  peak: number;
  outline: number;
  font: string;
}

const HUES = 12;
const RAMP_STEPS = 8;

/** Through a probe element, so that system colours (forced colours) come out as numbers too. */
function currentTheme(): Theme {
  const probe = document.createElement('i');
  probe.hidden = true;
  probe.style.setProperty('forced-color-adjust', 'none');
  document.body.append(probe);
  const colour = (token: string): number => {
    probe.style.color = `var(--${token})`;
    const [r = 0, g = 0, b = 0] = (getComputedStyle(probe).color.match(/\d+/g) ?? []).map(Number);
    return r << 16 | g << 8 | b;
  };
  const theme: Theme = {
    palette: [...Array.from({length: HUES}, (_, hue) => colour(`hue-${hue}`)), colour('hue-12')],
    ramp: Array.from({length: RAMP_STEPS}, (_, step) => colour(`ramp-${step}`)),
    density: colour('text'),
    background: colour('bg'),
    name: colour('text'),
    text: colour('muted'),
    grid: colour('grid'),
    total: colour('total'),
    baseline: colour('baseline'),
    reserved: colour('reserved'),
    active: colour('active'),
    lines: {outside: colour('outside'), reserved_gap: colour('reserved'), active_gap: colour('active'), filtered: colour('filtered')},
    peak: colour('text'),
    outline: colour('text'),
    font: getComputedStyle(document.body).fontFamily,
  };
  probe.remove();
  return theme;
}

/** Calls back when the system's setting changes. */
export function onThemeChange(changed: () => void): void {
  for (const query of [DARK, '(forced-colors: active)', '(prefers-contrast: more)']) {
    matchMedia(query).addEventListener('change', changed);
  }
}
