import { useSignal } from '@preact/signals';
import { Component, type ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { type PageEntry, pages } from '../pages/index.ts';
import { go, href, ownAddress, place } from '../state/address.ts';
import { again, answers, useAnswer } from '../state/answers.ts';
import { useKeys } from '../state/keys.ts';
import { goLive, mayListen } from '../state/live.ts';
import { may, me, refusedAt, signedIn, tokenEnds } from '../state/session.ts';
import { Empty, Failure, Loading } from '../ui/states.tsx';
import { Toasts } from '../ui/toasts.tsx';
import { shownTime } from '../ui/values.tsx';
import { KeyHelp } from './key-help.tsx';
import { Palette } from './palette.tsx';
import { Rail } from './rail.tsx';
import { ShownPage } from './shown-page.tsx';
import { SignIn } from './sign-in.tsx';
import { StatusLine } from './status-line.tsx';
import './app.css';

/** Pages that are visible without signing in. */
const publicPages: readonly string[] = ['docs', 'transparency'];

/**
 * Shows the frame with a page to signed-in users and to visitors of public pages, and the sign-in form otherwise.
 */
export function App() {
  const { page } = place.value;
  const isSignedIn = signedIn.value;
  useEffect(() => {
    // Reads the current place, because the user may have navigated before this effect runs.
    const { page: shown, params } = place.peek();
    if (isSignedIn && shown === 'sign-in') go(ownAddress(params.get('to')), { replace: true });
    if (!isSignedIn) {
      me.value = undefined;
      answers.clear();
    }
  }, [isSignedIn, page]);
  if (!isSignedIn && !publicPages.includes(page)) return <SignIn />;
  if (page === 'sign-in') return null;
  return <Frame />;
}

function Frame() {
  const isHelpOpen = useSignal(false);
  const isSearchOpen = useSignal(false);
  const isSignedIn = signedIn.value;
  const who = useAnswer('whoAmI', {}, { enabled: isSignedIn });
  useEffect(() => {
    if (who.data === undefined) return;
    const { id, attributes } = who.data.data;
    const { name, roles, operations } = attributes;
    me.value = { id, name, roles, operations: new Set(operations) };
  }, [who.data?.data]);
  useEffect(() => {
    // Fetches the permissions again after each token renewal, and after the service refused an operation. `useAnswer`
    // sends the first request.
    if (me.peek() !== undefined) void again(['whoAmI']);
  }, [tokenEnds.value, refusedAt.value]);
  const listens = isSignedIn && mayListen.value;
  useEffect(() => (listens ? goLive() : undefined), [listens]);
  const entry = pages.find(({ name }) => name === place.value.page) ?? pages[0]!;
  const known = !isSignedIn || me.value !== undefined;
  const isRefused = isSignedIn && known && !may(entry.needs);
  // Users without access to the overview start on the first page that they may see.
  const startPage = isRefused && entry.name === 'overview' ? ownPages()[0]?.name : undefined;
  useEffect(() => {
    if (startPage !== undefined) go(href(startPage), { replace: true });
  }, [startPage]);
  useKeys('Global', {
    '?': { title: 'Keyboard shortcuts', run: () => (isHelpOpen.value = true) },
    'ctrl k': {
      title: 'Search addresses, names, rules and pages',
      run: () => (isSearchOpen.value = true),
      whileTyping: true,
    },
    ...Object.fromEntries(
      pages.map(({ key, name, title }) => [
        `g ${key}`,
        { title: `Go to ${title}`, run: () => go(href(name, shownTime())) },
      ]),
    ),
  });
  // The pages of a signed-in user are known only after whoAmI has returned.
  if (!known)
    return who.error === null ? <Loading /> : <Failure error={who.error} onRetry={() => void who.refetch()} />;
  if (startPage !== undefined) return <Loading />;
  return (
    <div class="app">
      <a class="skip" href="#main">
        Skip to content
      </a>
      <Rail onFind={() => (isSearchOpen.value = true)} onHelp={() => (isHelpOpen.value = true)} />
      {isRefused ? <AccessDenied entry={entry} /> : <Shown key={entry.name} entry={entry} />}
      <StatusLine />
      <Toasts />
      {isHelpOpen.value && <KeyHelp onClose={() => (isHelpOpen.value = false)} />}
      {isSearchOpen.value && <Palette onClose={() => (isSearchOpen.value = false)} />}
    </div>
  );
}

/** Returns the pages that the signed-in user may see, in the order of the rail. */
const ownPages = (): readonly PageEntry[] => pages.filter(({ needs }) => may(needs));

/** Shown when the user's roles do not include a page, with links to the pages that the roles include. */
function AccessDenied({ entry }: { entry: PageEntry }) {
  return (
    <main class="page" id="main">
      <h1 class="unseen">{entry.title}</h1>
      <Empty title={`${entry.title} is not available to your role`}>
        <p>
          {me.value?.name} has {me.value?.roles.join(', ') || 'no role'}. You can open:
        </p>
        <ul class="row">
          {ownPages().map(({ name, title }) => (
            <li key={name}>
              <a href={href(name)}>{title}</a>
            </li>
          ))}
        </ul>
      </Empty>
    </main>
  );
}

function Shown({ entry }: { entry: PageEntry }) {
  return (
    <ErrorBoundary>
      <ShownPage entry={entry} />
    </ErrorBoundary>
  );
}

/** Error boundary of a page: the frame stays usable when the page throws. */
class ErrorBoundary extends Component<{ children: ComponentChildren }, { error?: Error }> {
  override componentDidCatch(error: Error): void {
    // Prints the stack in the browser's console.
    reportError(error);
    this.setState({ error });
  }

  render() {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return (
      <main class="page" id="main">
        <h1 class="unseen">Error</h1>
        <Failure error={error} onRetry={() => location.reload()} />
      </main>
    );
  }
}
