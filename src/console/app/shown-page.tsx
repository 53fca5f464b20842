import { useSignal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import type { PageEntry } from '../pages/index.ts';
import { Button } from '../ui/button.tsx';
import { Loading } from '../ui/states.tsx';
import { loadPage } from './page-code.ts';

type Loaded =
  | { readonly kind: 'loading' }
  | { readonly kind: 'there'; readonly Page: ComponentType }
  | { readonly kind: 'failed'; readonly error: Error };

/** The page, once its part of the program is there. What did not arrive is asked for again when the network is back. */
export function ShownPage({ entry }: { entry: PageEntry }) {
  const loaded = useSignal<Loaded>({ kind: 'loading' });
  const failures = useSignal(0);
  const load = () => {
    loaded.value = { kind: 'loading' };
    loadPage(entry, failures.peek() > 0).then(
      (Page) => {
        loaded.value = { kind: 'there', Page };
      },
      (error: Error) => {
        failures.value++;
        loaded.value = { kind: 'failed', error };
      },
    );
  };
  useEffect(load, []);
  useEffect(() => {
    document.title = `${entry.title} · Candor`;
  }, []);
  const failed = loaded.value.kind === 'failed';
  useEffect(() => {
    if (!failed) return;
    addEventListener('online', load);
    return () => removeEventListener('online', load);
  }, [failed]);
  switch (loaded.value.kind) {
    case 'there': {
      const { Page } = loaded.value;
      return <Page />;
    }
    case 'loading':
      return (
        <main class="page" id="main">
          <Loading />
        </main>
      );
    case 'failed':
      return (
        <main class="page" id="main">
          <h1 class="unseen">{entry.title}</h1>
          <Unloaded error={loaded.value.error} isRepeated={failures.value > 1} onRetry={load} />
        </main>
      );
  }
}

function Unloaded({
  error,
  isRepeated,
  onRetry,
}: {
  error: Error;
  isRepeated: boolean;
  onRetry: () => void;
}) {
  return (
    <div class="state state-failure" role="alert">
      <p class="state-title">This page could not be loaded.</p>
      <p class="quiet mono">{error.message}</p>
      <p class="quiet">
        {isRepeated
          ? 'Where the service was upgraded, this console is of the version before, and has to be loaded anew.'
          : 'It is loaded as soon as this browser has the network back.'}
      </p>
      <div class="row">
        <Button onClick={onRetry}>Try again</Button>
        {isRepeated && (
          <Button kind="primary" onClick={() => location.reload()}>
            Load the console anew
          </Button>
        )}
      </div>
    </div>
  );
}
