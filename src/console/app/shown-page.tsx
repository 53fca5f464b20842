import { useSignal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import type { PageEntry } from '../pages/index.ts';
import { loadPage } from '../state/page-code.ts';
import { Button } from '../ui/button.tsx';
import { Loading } from '../ui/states.tsx';

type Loaded =
  | { readonly kind: 'loading' }
  | { readonly kind: 'there'; readonly Page: ComponentType }
  | { readonly kind: 'failed'; readonly error: Error };

/** Loads and shows a page. A page that failed to load is retried when the network is back. */
export function ShownPage({ entry }: { entry: PageEntry }) {
  const loaded = useSignal<Loaded>({ kind: 'loading' });
  const failures = useSignal(0);
  const load = () => {
    loaded.value = { kind: 'loading' };
    loadPage(entry.load, failures.peek() > 0).then(
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
          <LoadFailure error={loaded.value.error} isRepeated={failures.value > 1} onRetry={load} />
        </main>
      );
  }
}

function LoadFailure({ error, isRepeated, onRetry }: { error: Error; isRepeated: boolean; onRetry: () => void }) {
  return (
    <div class="state state-failure" role="alert">
      <p class="state-title">Could not load this page.</p>
      <p class="quiet mono">{error.message}</p>
      <p class="quiet">
        {isRepeated
          ? 'The service may have been upgraded. Reload the console to get the new version.'
          : 'Retries automatically when the network is back.'}
      </p>
      <div class="row">
        <Button onClick={onRetry}>Retry</Button>
        {isRepeated && (
          <Button kind="primary" onClick={() => location.reload()}>
            Reload console
          </Button>
        )}
      </div>
    </div>
  );
}
