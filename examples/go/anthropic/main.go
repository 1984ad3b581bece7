// The Anthropic SDK: a whole answer, a stream, a tool call.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/toolrunner"
)

type weatherInput struct {
	Place string `json:"place"`
}

func weather(_ context.Context, input weatherInput) (anthropic.BetaToolResultBlockParamContentUnion, error) {
	text := anthropic.BetaTextBlockParam{Text: "Sunny in " + input.Place + "."}
	return anthropic.BetaToolResultBlockParamContentUnion{OfText: &text}, nil
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	gateway := os.Getenv("GATEWAY_URL")
	if gateway == "" {
		gateway = "http://127.0.0.1:8080"
	}
	client := anthropic.NewClient(
		option.WithBaseURL(gateway+"/alpha"),
		option.WithAPIKey(os.Getenv("GATEWAY_KEY")),
	)
	ctx := context.Background()
	ask := func(content string) anthropic.MessageNewParams {
		return anthropic.MessageNewParams{
			Model:     "large-1",
			MaxTokens: 200,
			Messages:  []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(content))},
		}
	}

	message, err := client.Messages.New(ctx, ask("Good morning"))
	check(err)
	fmt.Println("whole:", message.Content[0].Text)

	stream := client.Messages.NewStreaming(ctx, ask("Good evening"))
	fmt.Print("stream: ")
	for stream.Next() {
		fmt.Print(stream.Current().Delta.Text)
	}
	check(stream.Err())
	fmt.Println()

	tool, err := toolrunner.NewBetaToolFromJSONSchema("weather", "The weather of a place.", weather)
	check(err)
	question := anthropic.NewBetaUserMessage(anthropic.NewBetaTextBlock("Use the weather tool."))
	runner := client.Beta.Messages.NewToolRunner([]anthropic.BetaTool{tool}, anthropic.BetaToolRunnerParams{
		BetaMessageNewParams: anthropic.BetaMessageNewParams{
			Model:     "large-1",
			MaxTokens: 200,
			Messages:  []anthropic.BetaMessageParam{question},
		},
	})
	answer, err := runner.RunToCompletion(ctx)
	check(err)
	fmt.Println("tool:", answer.Content[0].Text)
}
