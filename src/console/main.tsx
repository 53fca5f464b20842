import { QueryClientProvider } from '@tanstack/preact-query';
import { render } from 'preact';
import { App } from './app/app.tsx';
import { followLinks } from './state/address.ts';
import { answers } from './state/answers.ts';
import { runClock } from './state/clock.ts';
import { listenToKeys } from './state/keys.ts';
import { keepPreferences } from './state/preferences.ts';
import { followOtherTabs } from './state/session.ts';
import './ui/style/tokens.css';
import './ui/style/base.css';

keepPreferences();
followLinks();
followOtherTabs();
listenToKeys();
runClock();

render(
  <QueryClientProvider client={answers}>
    <App />
  </QueryClientProvider>,
  document.getElementById('console')!,
);
