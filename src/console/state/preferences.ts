import { effect, type Signal, signal } from '@preact/signals';

/** Display preferences of this browser. They do not change what a URL shows. */
interface Preferences {
  theme: 'system' | 'dark' | 'light';
  /** The time zone for displayed times. */
  zone: 'local' | 'utc';
}

const key = 'candor.preferences';
const defaults: Preferences = { theme: 'system', zone: 'local' };

function kept(): Partial<Preferences> {
  try {
    return JSON.parse(localStorage.getItem(key) ?? '{}') ?? {};
  } catch {
    return {};
  }
}

const { theme: keptTheme, zone: keptZone } = kept();
export const theme: Signal<Preferences['theme']> = signal(
  keptTheme === 'dark' || keptTheme === 'light' ? keptTheme : defaults.theme,
);
export const zone: Signal<Preferences['zone']> = signal(keptZone === 'utc' ? 'utc' : defaults.zone);

const prefersLight = matchMedia('(prefers-color-scheme: light)');
const systemTheme = signal<'dark' | 'light'>(prefersLight.matches ? 'light' : 'dark');
prefersLight.addEventListener('change', ({ matches }) => {
  systemTheme.value = matches ? 'light' : 'dark';
});

/** Returns the theme in effect. */
export const shownTheme = (): 'dark' | 'light' => (theme.value === 'system' ? systemTheme.value : theme.value);

export function keepPreferences(): void {
  effect(() => {
    document.documentElement.dataset.theme = shownTheme();
    const text = JSON.stringify({ theme: theme.value, zone: zone.value });
    try {
      localStorage.setItem(key, text);
    } catch {
      // If storage is full or blocked, preferences last for this visit.
    }
  });
}
