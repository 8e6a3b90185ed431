// Builds the application APP into the folder OUT (environment variables).
import { svelte } from '@sveltejs/vite-plugin-svelte';
import react from '@vitejs/plugin-react';
import vue from '@vitejs/plugin-vue';
import { defineConfig } from 'vite';

const plugins = { react: react(), vue: vue(), svelte: svelte() };
const app = process.env.APP;

export default defineConfig({
  root: app,
  base: './',
  plugins: [plugins[app]],
  build: { outDir: process.env.OUT, emptyOutDir: true },
  logLevel: 'warn',
});
